// C0 without tab and newline, DEL, C1, and the marks that reorder text.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * Shows control characters as `\u001b` instead of obeying them: with them a body could rewrite a terminal's screen, or
 * make a page show another text than the one received.
 */
export function visibleControls(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
