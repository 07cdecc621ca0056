/** Splits a request target into path and query without building a URL object. */

const none = new URLSearchParams()

const slash = 47

/** Strips scheme and host from a target in the form for proxies (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  const [authority = ''] = /^https?:\/\/[^/?#]*/i.exec(target) ?? []
  if (authority === '') return target
  const rest = target.slice(authority.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** `/api/v1/pods?limit=1` → path and decoded query. Requests without a query share one empty object. */
export function splitTarget(requestTarget: string): { path: string; query: URLSearchParams; rawQuery: string } {
  const target = requestTarget.charCodeAt(0) === slash ? requestTarget : originForm(requestTarget)
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: none, rawQuery: '' }
  const rawQuery = target.slice(mark + 1)
  return { path: target.slice(0, mark), query: new URLSearchParams(rawQuery), rawQuery }
}
