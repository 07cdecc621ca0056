/** Rules of HTTPRoutes and GRPCRoutes: conditions and actions, and the references that could not be resolved. */
import { parseDurationMs } from '../../../../lib/duration.ts'
import type { BackendRef, RouteAction, RouteMatch, WeightedBackend } from '../route.ts'
import { type NewCondition, negative, positive } from './conditions.ts'
import { isGranted } from './grants.ts'
import {
  type AnyRoute,
  type Filter,
  type GrpcRoute,
  gatewayGroup,
  type HttpRoute,
  type HttpRule,
  type ReferenceGrant,
  type RouteBackend,
} from './kinds.ts'
import { backendFilters, filteredAction, RouteFault } from './rule-filters.ts'
import { grpcMatches, httpMatches } from './rule-matches.ts'

export interface CompiledRule {
  readonly matches: readonly RouteMatch[]
  readonly action: RouteAction
}

/** The rules of a route with its conditions that do not depend on a parent. */
export interface CompiledRoute {
  readonly rules: readonly CompiledRule[]
  /** Undefined if the route is acceptable. */
  readonly fault: NewCondition | undefined
  readonly resolvedRefs: NewCondition
}

export interface BackendLookup {
  hasService(namespace: string, name: string): boolean
  readonly grants: readonly ReferenceGrant[]
}

type AnyRule = Pick<HttpRule, 'filters' | 'backendRefs' | 'timeouts'>

export function compileHttpRoute(route: HttpRoute, lookup: BackendLookup): CompiledRoute {
  return compile(route, lookup, (compiler) =>
    (route.spec.rules ?? [{}]).map((rule) => compiler.rule(rule, httpMatches(rule.matches))),
  )
}

export function compileGrpcRoute(route: GrpcRoute, lookup: BackendLookup): CompiledRoute {
  return compile(route, lookup, (compiler) =>
    (route.spec.rules ?? [{}]).map((rule) => compiler.rule(rule, grpcMatches(rule.matches))),
  )
}

function compile(
  route: AnyRoute,
  lookup: BackendLookup,
  rulesOf: (compiler: RuleCompiler) => CompiledRule[],
): CompiledRoute {
  const compiler = new RuleCompiler(route, lookup)
  try {
    const rules = rulesOf(compiler)
    return { rules, fault: undefined, resolvedRefs: compiler.unresolved ?? positive('ResolvedRefs') }
  } catch (error) {
    if (!(error instanceof RouteFault)) throw error
    const fault = negative('Accepted', error.reason, error.message)
    return { rules: [], fault, resolvedRefs: compiler.unresolved ?? positive('ResolvedRefs') }
  }
}

class RuleCompiler {
  /** The first reference that could not be resolved. */
  unresolved: NewCondition | undefined
  readonly #route: AnyRoute
  readonly #lookup: BackendLookup

  constructor(route: AnyRoute, lookup: BackendLookup) {
    this.#route = route
    this.#lookup = lookup
  }

  /** Throws RouteFault. */
  rule({ filters = [], backendRefs = [], timeouts }: AnyRule, matches: readonly RouteMatch[]): CompiledRule {
    const { kind, metadata } = this.#route
    const resolve = (reference: RouteBackend): BackendRef | undefined => {
      const found = this.#resolve(reference)
      return 'fault' in found ? undefined : found
    }
    const action: RouteAction = {
      name: `${kind}/${metadata.namespace}/${metadata.name}`,
      ...filteredAction(filters, resolve),
      backends: backendRefs.map((reference) => this.#backend(reference)),
      ...(timeouts && { timeouts: timeoutsOf(timeouts) }),
    }
    return { matches, action }
  }

  #backend({
    weight = 1,
    filters = [],
    ...reference
  }: RouteBackend & { filters?: readonly Filter[] }): WeightedBackend {
    return { weight, backend: this.#resolve(reference), ...backendFilters(filters) }
  }

  #resolve({
    group = '',
    kind = 'Service',
    name,
    namespace = this.#namespace,
    port,
  }: RouteBackend): BackendRef | { readonly fault: string } {
    const title = `${kind} ${namespace}/${name}`
    if (group !== '' || kind !== 'Service')
      return this.#fail('InvalidKind', `${title} is not a Service: use one as backend`)
    const from = { group: gatewayGroup, kind: this.#route.kind, namespace: this.#namespace }
    if (!isGranted({ from, to: { group, kind, namespace, name } }, this.#lookup.grants))
      return this.#fail('RefNotPermitted', `no ReferenceGrant in ${namespace} allows ${title}: create one`)
    if (port === undefined) return this.#fail('UnsupportedValue', `the port of ${title} is missing: add it`)
    if (!this.#lookup.hasService(namespace, name))
      return this.#fail('BackendNotFound', `${title} does not exist: create it`)
    return { namespace, name, port, isGrpc: this.#route.kind === 'GRPCRoute' }
  }

  get #namespace(): string {
    return this.#route.metadata.namespace ?? ''
  }

  #fail(reason: string, fault: string): { readonly fault: string } {
    this.unresolved ??= negative('ResolvedRefs', reason, fault)
    return { fault }
  }
}

function timeoutsOf({ request, backendRequest }: NonNullable<HttpRule['timeouts']>): RouteAction['timeouts'] {
  const msOf = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : parseDurationMs(text)
  return { requestMs: msOf(request), backendMs: msOf(backendRequest) }
}
