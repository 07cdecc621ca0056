/** Formats lists for table cells. */

/** Returns for example `a,b,c + 2 more...`; an empty text for an empty list. */
export function firstFew(items: readonly string[], max = 3): string {
  const shown = items.slice(0, max).join(',')
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown
}
