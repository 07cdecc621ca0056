/** Sizes for people: `1.06 MB`. */

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Returns a size of `bytes` with three digits, in decimal units as Docker's. */
export function sizeText(bytes: number): string {
  const exponent = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** exponent
  return `${exponent === 0 ? value : Number(value.toPrecision(3))} ${units[exponent]}`
}
