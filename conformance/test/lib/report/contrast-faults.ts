/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * Runs in a page: the texts whose colour is too near to what is behind them.
 *
 * @see https://www.w3.org/TR/WCAG22/#contrast-minimum
 */
export function contrastFaults(): string[] {
  const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = channels(colour)
      .slice(0, 3)
      .map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const behind = (element: Element): string => {
    for (let at: Element | null = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor
      if (channels(colour)[3] !== 0) return colour
    }
    return 'rgb(255, 255, 255)'
  }
  const faults = new Set<string>()
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim())
    if (!own || !element.checkVisibility()) continue
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (ratio < 4.5) faults.add(`${element.tagName} ${element.className}: ${ratio.toFixed(2)}`)
  }
  return [...faults]
}
