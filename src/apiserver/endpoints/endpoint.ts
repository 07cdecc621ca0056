/** Input of every endpoint: the server's services, the request and its resource. */
import { after } from '../../lib/flow/after.ts'
import { pauses } from '../../lib/flow/steps.ts'
import { qualifiedName } from '../../machinery/validation/names.ts'
import { managerName } from '../apply/index.ts'
import type { ServiceAccountTokens } from '../authentication/service-accounts/index.ts'
import type { TokenAuthentication } from '../authentication/tokens/token-authentication.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { forbiddenError } from '../authorization/forbidden-error.ts'
import type { HealthCheck } from '../health/health.ts'
import type { Request, Response } from '../http/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import type { Places } from '../proxy/index.ts'
import type { Representation } from '../registry/cache/representation.ts'
import type { Registry } from '../registry/registry.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import type { Admission } from '../registry/write/admission.ts'
import { timestamp, type WriteContext } from '../registry/write/write-context.ts'
import type { WriteOptions } from '../request-options/write-options.ts'
import type { ResourceMetrics } from '../resource-metrics/index.ts'

/** The services of the server that endpoints use. */
export interface Services {
  readonly registry: Registry
  readonly admission: Admission
  readonly waitGroup: WaitGroup
  readonly pods: ServedResource
  readonly budgets: ServedResource
  /** Resolves the addresses of pods, services and nodes. */
  readonly places: Places
  readonly authorizer: Authorizer
  /** Authenticates bearer tokens, for TokenReviews. */
  readonly tokens: TokenAuthentication
  /** Issues tokens of service accounts. */
  readonly serviceAccounts: ServiceAccountTokens | undefined
  readonly secrets: ServedResource
  /** The components that `componentstatuses` probes. */
  readonly components: readonly HealthCheck[]
  /** The usage of nodes and pods; undefined if this server does not serve metrics.k8s.io. */
  readonly resourceMetrics: ResourceMetrics | undefined
  /** Returns true if a kind is known, such as `ConfigMap` of `v1`; used in error messages. */
  readonly knowsKind: (groupVersion: string, kind: string) => boolean
  /** Watches without a timeout end after this time to twice this time. Default: 1,800. 0: no limit. */
  readonly minRequestTimeoutSeconds?: number
}

export interface Target {
  readonly services: Services
  readonly request: Request
  readonly resource: ServedResource
}

/** Answers one verb of one kind of path. */
export type Endpoint = (target: Target) => Response | Promise<Response>

export function writeContext(
  { services, request, resource }: Target,
  options: WriteOptions,
  subresource = request.info.subresource,
): WriteContext {
  const { registry, admission } = services
  const { namespace, name } = request.info
  return {
    registry,
    admission,
    resource,
    namespace: resource.namespaced ? namespace : '',
    name,
    subresource,
    user: request.user!,
    manager: managerName(options.fieldManager, request.header('user-agent')),
    options,
    warnings: request.warnings,
    annotate: (key, value, level) => {
      if (request.audit && isPrefixed(key)) request.audit.annotate(key, value, level)
    },
    request,
    confirmCreate: request.info.verb === 'create' ? undefined : () => confirmCreate(services, request),
    now: () => timestamp(registry.clock.now()),
    pause: pauses(),
  }
}

/** Returns true for `example.com/name`. Webhooks may return any key; others are not added to audit events. */
const isPrefixed = (key: string): boolean => key.includes('/') && qualifiedName(key).length === 0

/** PUT and apply of a missing object need the permission to create it, too. */
function confirmCreate({ authorizer }: Services, { user, info }: Request): void | Promise<void> {
  const attributes = { user, info: { ...info, verb: 'create' } }
  return after(authorizer.authorize(attributes), ({ verdict, reason }) => {
    if (verdict !== 'allow') throw forbiddenError(attributes, reason)
  })
}

export function objectResponse(representation: Representation, object: StoredObject, status = 200): Response {
  const parts = representation.object(object)
  return {
    status,
    headers: { 'content-type': representation.contentType },
    body: parts.length === 1 ? parts[0]! : parts,
  }
}
