import { visibleControls } from './visible-controls.ts'

/** A fenced Markdown block around any text; the fence is longer than any run of backticks inside. */
export function markdownFence(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${visibleControls(text)}\n${fence}`
}
