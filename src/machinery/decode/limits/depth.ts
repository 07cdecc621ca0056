/** How deep a JSON value is nested. What recurses over values of clients' making must know first. */

/** Whether a value is nested more than `limit` levels deep; never looks deeper than that. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  for (const member of Array.isArray(value) ? value : Object.values(value))
    if (isDeeperThan(member, limit - 1)) return true
  return false
}
