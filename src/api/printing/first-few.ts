/** Lists in a table's cell: the first few, and how many more there are. */

/** `a,b,c + 2 more...`; the empty text for an empty list. */
export function firstFew(items: readonly string[], most = 3): string {
  const shown = items.slice(0, most).join(',')
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown
}
