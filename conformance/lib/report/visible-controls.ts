// C0 without tab and newline, DEL, C1, the marks that reorder text, and those that break lines or take no room.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * Shows control characters as `\u001b` instead of obeying them: with them a body could rewrite a terminal's screen, or
 * make a page show another text than the one received.
 */
export function visibleControls(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
