/** Routes and certificates of Ingresses (networking.k8s.io/v1). */
import type { Ingress, IngressClass } from '../../../client/kinds.ts'
import { anyHost, oneLabel } from './hosts.ts'
import { everyPath, type PathMatch } from './paths.ts'
import type { BackendRef, Route, RouteAction } from './route.ts'

type Spec = NonNullable<Ingress['spec']>
type Backend = NonNullable<Spec['defaultBackend']>
type Path = NonNullable<NonNullable<NonNullable<Spec['rules']>[number]['http']>['paths']>[number]

/** `spec.controller` of the classes whose Ingresses this proxy serves. */
export const ingressController = 'typernetes.io/ingress'

const classAnnotation = 'kubernetes.io/ingress.class'

/** A certificate for a host, or for all hosts. */
export interface SecretForHost {
  readonly host: string
  readonly namespace: string
  readonly name: string
}

export interface IngressPicture {
  readonly routes: readonly Route[]
  /** Gets requests that match no rule of any Ingress. */
  readonly fallback: Route | undefined
  readonly secrets: readonly SecretForHost[]
}

/** Returns true if an Ingress is of a class of this proxy. `classOf` returns an IngressClass. */
export function isServed({ metadata, spec }: Ingress, classOf: (name: string) => IngressClass | undefined): boolean {
  const name = spec?.ingressClassName ?? metadata.annotations?.[classAnnotation]
  return name !== undefined && classOf(name)?.spec?.controller === ingressController
}

/** Returns the backends of kind resource, which are ignored: `defaultBackend`, or a path. */
export function resourceBackends({ spec }: Ingress): readonly string[] {
  const found = spec?.defaultBackend?.resource ? ['the default backend'] : []
  for (const { http } of spec?.rules ?? [])
    for (const { path, backend } of http?.paths ?? []) if (backend.resource) found.push(`the backend of ${path || '/'}`)
  return found
}

/** The picture of Ingresses that are served, in any order. */
export function pictureOfIngresses(ingresses: Iterable<Ingress>): IngressPicture {
  const routes: Route[] = []
  const secrets: SecretForHost[] = []
  let fallback: Route | undefined
  for (const ingress of [...ingresses].sort(byAge)) {
    routes.push(...routesOf(ingress))
    secrets.push(...secretsOf(ingress))
    fallback ??= defaultRoute(ingress, anyHost)
  }
  return { routes, fallback, secrets }
}

function byAge(a: Ingress, b: Ingress): number {
  const [first, second] = [originOf(a), originOf(b)]
  return first.createdAt < second.createdAt || (first.createdAt === second.createdAt && first.key < second.key) ? -1 : 1
}

const originOf = ({ metadata }: Ingress): Route['origin'] => ({
  createdAt: metadata.creationTimestamp ?? '',
  key: `${metadata.namespace}/${metadata.name}`,
})

/** A route for each path, and one per host for the default backend. A rule without paths uses the default backend. */
function* routesOf(ingress: Ingress): Generator<Route> {
  const hosts = new Set<string>()
  for (const { host, http } of ingress.spec?.rules ?? []) {
    const pattern = patternOf(host)
    hosts.add(pattern)
    for (const path of http?.paths ?? []) {
      const action = actionOf(ingress, path.backend)
      if (action) yield { host: pattern, match: { path: matchOf(path) }, action, origin: originOf(ingress) }
    }
  }
  for (const host of hosts) {
    const route = defaultRoute(ingress, host)
    if (route) yield route
  }
}

function defaultRoute(ingress: Ingress, host: string): Route | undefined {
  const action = ingress.spec?.defaultBackend && actionOf(ingress, ingress.spec.defaultBackend)
  return action && { host, match: { path: everyPath }, action, isDefault: true, origin: originOf(ingress) }
}

const matchOf = ({ path, pathType }: Path): PathMatch => ({
  type: pathType === 'Exact' ? 'Exact' : 'Prefix',
  value: path || '/',
})

/** Undefined for a backend that is not a Service. */
function actionOf({ metadata }: Ingress, { service }: Backend): RouteAction | undefined {
  const port = service?.port?.name ?? service?.port?.number
  if (!service || port === undefined) return undefined
  const backend: BackendRef = { namespace: metadata.namespace ?? '', name: service.name, port }
  return { name: `Ingress/${metadata.namespace}/${metadata.name}`, backends: [{ weight: 1, backend }] }
}

/** Without `hosts`, a certificate is for the hosts of the rules. */
function* secretsOf({ metadata, spec }: Ingress): Generator<SecretForHost> {
  const ruled = spec?.rules?.map(({ host }) => host) ?? []
  for (const { hosts, secretName } of spec?.tls ?? []) {
    if (!secretName) continue
    for (const host of hosts?.length ? hosts : ruled.length > 0 ? ruled : [undefined])
      yield { host: patternOf(host), namespace: metadata.namespace ?? '', name: secretName }
  }
}

const patternOf = (host = ''): string => (host.startsWith('*.') ? oneLabel(host.slice(2)) : host || anyHost)
