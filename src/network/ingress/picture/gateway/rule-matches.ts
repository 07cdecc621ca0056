/** Conditions of HTTPRoutes and GRPCRoutes. */
import { linearRegexp, RegexpSyntaxError } from '../../../../lib/linear-regexp/index.ts'
import { everyPath, type PathMatch } from '../paths.ts'
import type { RouteMatch, ValueMatch } from '../route.ts'
import type { GrpcRule, HttpMatch, NamedMatch } from './kinds.ts'
import { RouteFault } from './rule-filters.ts'

/** Returns the conditions; one that matches everything for a rule without any. Throws RouteFault. */
export function httpMatches(matches: readonly HttpMatch[] = []): readonly RouteMatch[] {
  if (matches.length === 0) return [{ path: everyPath }]
  return matches.map(({ path, headers = [], queryParams = [], method }) => ({
    path: pathMatch(path),
    method,
    headers: headers.map((one) => valueMatch({ ...one, name: one.name.toLowerCase() })),
    query: queryParams.map(valueMatch),
  }))
}

/** The same for gRPC, whose paths are `/SERVICE/METHOD`. */
export function grpcMatches(matches: GrpcRule['matches'] = []): readonly RouteMatch[] {
  if (matches.length === 0) return [{ path: everyPath }]
  return matches.map(({ method, headers = [] }) => ({
    path: grpcPath(method),
    headers: headers.map((one) => valueMatch({ ...one, name: one.name.toLowerCase() })),
  }))
}

function pathMatch({ type = 'PathPrefix', value = '/' }: NonNullable<HttpMatch['path']> = {}): PathMatch {
  switch (type) {
    case 'Exact':
      return { type: 'Exact', value }
    case 'PathPrefix':
      return { type: 'Prefix', value }
    case 'RegularExpression':
      return { type: 'RegularExpression', value, matches: wholeExpression(value) }
    default:
      throw new RouteFault('UnsupportedValue', `path match ${type} is not supported: use PathPrefix`)
  }
}

type GrpcMethod = NonNullable<NonNullable<GrpcRule['matches']>[number]['method']>

function grpcPath({ type = 'Exact', service, method }: GrpcMethod = {}): PathMatch {
  if (!service && !method) return everyPath
  if (type === 'RegularExpression') return expression(`/${service ?? '[^/]+'}/${method ?? '[^/]+'}`)
  if (service && method) return { type: 'Exact', value: `/${service}/${method}` }
  // Characters of a service come before those of a method.
  return service ? { type: 'Prefix', value: `/${service}` } : { ...expression(`/[^/]+/${method}`), isLast: true }
}

const expression = (value: string): Extract<PathMatch, { type: 'RegularExpression' }> => ({
  type: 'RegularExpression',
  value,
  matches: wholeExpression(value),
})

function valueMatch({ type = 'Exact', name, value }: NamedMatch): ValueMatch {
  if (type === 'RegularExpression') return { name, matches: wholeExpression(value) }
  return { name, matches: (text) => text === value }
}

/** The expression has to match all of a text, as in other implementations. */
function wholeExpression(source: string): (text: string) => boolean {
  try {
    const compiled = linearRegexp(`^(?:${source})$`)
    return (text) => compiled.test(text)
  } catch (error) {
    if (!(error instanceof RegexpSyntaxError)) throw error
    throw new RouteFault('UnsupportedValue', `${error.message}: correct the expression`)
  }
}
