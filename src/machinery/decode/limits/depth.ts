/** The nesting depth of JSON values, which has to be checked before code recurses over values from clients. */

/** The limit of nesting levels: deeper trees would exhaust the stack when they are encoded. */
export const maxDepth = 1000

/** Returns true if a value is nested more than `limit` levels deep. Does not visit deeper levels. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  for (const member of Array.isArray(value) ? value : Object.values(value))
    if (isDeeperThan(member, limit - 1)) return true
  return false
}
