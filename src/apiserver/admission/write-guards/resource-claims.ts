/**
 * Guards writes of ResourceClaims: admin access to devices needs a label on the namespace (KEP-5018), and each part of
 * a claim's status needs its own permission
 * (kubernetes.io/docs/concepts/security/hardening-guide/dynamic-resource-allocation).
 */
import type { ResourceV1ResourceClaim, V1ResourceClaimTemplate } from '@kubernetes/client-node'
import { removeStaleDevices } from '../../../api/dra/rules/claim-status.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import { invalid } from '../../../machinery/status-error.ts'
import { type FieldError, forbiddenField } from '../../../machinery/validation/field-error.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { accountOf } from '../../authentication/service-accounts/account-name.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenError } from '../../authorization/forbidden-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { WriteContext } from '../../registry/write/write-context.ts'
import type { WriteGuard } from '../../registry/write/write-guard.ts'
import type { RequestInfo } from '../../request-info/request-info.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { findNamespace } from '../namespaces/find-namespace.ts'

type Claim = Model<ResourceV1ResourceClaim>
type Template = Model<V1ResourceClaimTemplate>
type Status = NonNullable<Claim['status']>
/** In v1beta1 the fields of `exactly` are in the request itself. */
type Requests = readonly { readonly exactly?: { readonly adminAccess?: boolean }; readonly adminAccess?: boolean }[]

const adminLabel = 'resource.kubernetes.io/admin-access'
const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** Sets the guards of claims and their templates in each version. */
export function guardClaims(find: (key: string) => ServedResource, authorizer: Authorizer): void {
  const namespaces = find('v1/namespaces')
  for (const version of ['v1', 'v1beta2', 'v1beta1']) {
    find(`resource.k8s.io/${version}/resourceclaims`).writeGuard = claimGuard(namespaces, authorizer)
    find(`resource.k8s.io/${version}/resourceclaimtemplates`).writeGuard = templateGuard(namespaces)
  }
}

function claimGuard(namespaces: ServedResource, authorizer: Authorizer): WriteGuard {
  return async (context, object, old) => {
    const { spec, status = {} } = object as Claim
    if (!old) return refuse(context, object, await requestedAccess(context, namespaces, spec?.devices?.requests))
    if (context.subresource !== 'status') return
    const before = (old as Claim).status ?? {}
    const admin = await allocatedAccess(context, namespaces, status, before)
    refuse(context, object, [
      ...admin,
      ...(await bindingFaults(context, authorizer, status, before)),
      ...(await driverFaults(context, authorizer, status, before)),
    ])
  }
}

function templateGuard(namespaces: ServedResource): WriteGuard {
  return async (context, object, old) => {
    const { spec } = object as Template
    if (!old) refuse(context, object, await requestedAccess(context, namespaces, spec?.spec?.devices?.requests))
  }
}

function refuse({ resource }: WriteContext, { metadata }: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(resource.storage.groupKind, metadata.name ?? '', errors)
}

/** As upstream, errors of templates have the field path of the claim. */
async function requestedAccess(
  context: WriteContext,
  namespaces: ServedResource,
  requests: Requests = [],
): Promise<readonly FieldError[]> {
  const at = requests.findIndex(({ exactly, adminAccess }) => exactly?.adminAccess ?? adminAccess)
  return at < 0 ? [] : unlabelled(context, namespaces, `spec.devices.requests[${at}].adminAccess`)
}

/** An existing allocation was checked when it was written. */
async function allocatedAccess(
  context: WriteContext,
  namespaces: ServedResource,
  status: Status,
  old: Status,
): Promise<readonly FieldError[]> {
  const firstOf = ({ allocation }: Status): number =>
    allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess) ?? -1
  const at = firstOf(status)
  return at < 0 || firstOf(old) >= 0
    ? []
    : unlabelled(context, namespaces, `status.allocation.devices.results[${at}].adminAccess`)
}

async function unlabelled(
  { registry, namespace }: WriteContext,
  namespaces: ServedResource,
  path: string,
): Promise<readonly FieldError[]> {
  const found = await findNamespace(registry, namespaces, namespace)
  if (found?.parse().metadata.labels?.[adminLabel] === 'true') return []
  return [
    forbiddenField(
      path,
      `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`,
    ),
  ]
}

/** Changes of the allocation and of the consumers need the permissions of a scheduler. */
async function bindingFaults(
  context: WriteContext,
  authorizer: Authorizer,
  status: Status,
  old: Status,
): Promise<readonly FieldError[]> {
  if (
    semanticallyEqual(status.allocation, old.allocation) &&
    semanticallyEqual(status.reservedFor ?? [], old.reservedFor ?? [])
  )
    return []
  const verb = context.request?.info?.verb
  const why = verb && (await refusal(context, authorizer, { verb, subresource: 'binding', namespace: '', name: '' }))
  if (!why) return []
  return [
    forbiddenField(
      'status',
      'changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", ' +
        `verb="${verb}" permission: ${why}`,
    ),
  ]
}

/** Changes of device status need the permission of the driver, for the node of the allocation or for all nodes. */
async function driverFaults(
  context: WriteContext,
  authorizer: Authorizer,
  status: Status,
  old: Status,
): Promise<readonly FieldError[]> {
  const verb = context.request?.info?.verb
  // The status of devices that are deallocated is removed with them: no permission needed.
  const withoutStaleDevices = ({ devices }: Status): Status => {
    const claim = { status: { ...status, devices } }
    removeStaleDevices(claim as Claim, { status: old } as Claim)
    return claim.status
  }
  const drivers = changedDrivers(withoutStaleDevices(status), withoutStaleDevices(old))
  if (!verb || drivers.length === 0) return []
  const verbs = [
    ...(isOnNode(context.user, nodeOf(status)) ? [`associated-node:${verb}`] : []),
    `arbitrary-node:${verb}`,
  ]
  const { namespace } = context
  const faults: FieldError[] = []
  for (const name of drivers) {
    const reasons: string[] = []
    for (const one of verbs) {
      const why = await refusal(context, authorizer, { verb: one, subresource: 'driver', namespace, name })
      if (!why) break
      reasons.push(why)
    }
    if (reasons.length === verbs.length)
      faults.push(
        forbiddenField(
          'status',
          `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" ` +
            `permission: ${reasons[0]}`,
        ),
      )
  }
  return faults
}

/** Drivers of devices whose status was added, changed or removed, sorted. */
export function changedDrivers(
  { devices = [] }: Pick<Status, 'devices'>,
  { devices: old = [] }: Pick<Status, 'devices'>,
): string[] {
  type Device = (typeof devices)[number]
  const idOf = ({ driver, pool, device, shareID = '' }: Device): string =>
    JSON.stringify([driver, pool, device, shareID])
  const before = new Map(old.map((device) => [idOf(device), device]))
  const after = new Set(devices.map(idOf))
  const changed = [
    ...devices.filter((device) => !semanticallyEqual(before.get(idOf(device)), device)),
    ...old.filter((device) => !after.has(idOf(device))),
  ]
  return [...new Set(changed.map(({ driver }) => driver))].sort()
}

/** The node of an allocation that is for exactly one node. */
function nodeOf({ allocation }: Status): string | undefined {
  const [term, another] = allocation?.nodeSelector?.nodeSelectorTerms ?? []
  const [field, more] = term?.matchFields ?? []
  if (another || term?.matchExpressions?.length || more || field?.key !== 'metadata.name' || field.operator !== 'In')
    return undefined
  return field.values?.length === 1 ? field.values[0] : undefined
}

/** Returns true for a service account whose token is bound to a pod on the node. */
export function isOnNode({ name, extra }: UserInfo, node: string | undefined): boolean {
  const [own, another] = extra?.[nodeNameKey] ?? []
  return (
    own !== undefined &&
    another === undefined &&
    own === node &&
    dnsSubdomain(own).length === 0 &&
    accountOf(name) !== undefined
  )
}

type RequestedAccess = Pick<RequestInfo, 'verb' | 'subresource' | 'namespace' | 'name'>

/**
 * Returns the reason why the user lacks the permission; undefined if allowed. The server's own writes are not checked.
 */
async function refusal(
  { user, request }: WriteContext,
  authorizer: Authorizer,
  access: RequestedAccess,
): Promise<string | undefined> {
  if (!request?.info) return undefined
  const info = { ...request.info, ...access }
  const { verdict, reason } = await authorizer.authorize({ user, info })
  return verdict === 'allow' ? undefined : forbiddenError({ info, user }, reason).message
}
