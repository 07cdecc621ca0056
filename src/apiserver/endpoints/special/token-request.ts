/** `serviceaccounts/NAME/token`: issues a token of the account, for the requested audiences and duration. */
import type { V1BoundObjectReference, V1Pod } from '@kubernetes/client-node'
import { type TokenRequest, tokenRequests } from '../../../api/authentication/token-request.ts'
import type { KubeObject, Model } from '../../../machinery/object.ts'
import { badRequest, conflict, invalid, notFound, resourceNotFound } from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import type { BoundClaims, Reference } from '../../authentication/service-accounts/index.ts'
import { issueToken } from '../../authentication/service-accounts/issue-token.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { unstored } from '../../registry/stored-object.ts'
import { attributes, timestamp } from '../../registry/write/write-context.ts'
import { decodeObject } from '../../request/bodies/decode-object.ts'
import { checkNamespace } from '../../request/identity.ts'
import { writeOptions } from '../../request-options/write-options.ts'
import { type Endpoint, objectResponse, type Target, writeContext } from '../endpoint.ts'

const tokenRequestResource = new ServedResource(tokenRequests)
const { groupKind } = tokenRequestResource

export const requestToken: Endpoint = async (target) => {
  const { services, request, resource } = target
  const tokens = services.serviceAccounts
  if (!tokens) throw resourceNotFound()
  const representation = representationFor(request, tokenRequestResource, 'object')
  const options = writeOptions(request.query, 'CreateOptions')
  const tokenRequest = (await decodeObject(request, tokenRequestResource, options, services.knowsKind)) as TokenRequest
  const context = writeContext(target, options)
  const { namespace, name } = context
  checkNamespace(tokenRequest, resource, namespace)
  await services.admission.mutate({ ...attributes(context, 'CREATE', tokenRequest), kind: tokenRequests })
  checkIdentity(tokenRequest, namespace, name)
  const account = (await read(target, resource, name)).metadata
  checkUid(tokenRequest, account)
  const nowMs = services.registry.clock.now()
  const spec = {
    ...tokenRequest.spec,
    audiences: tokenRequest.spec?.audiences?.length ? tokenRequest.spec.audiences : [...tokens.audiences],
  }
  const metadata = { ...tokenRequest.metadata, name, namespace, uid: account.uid, creationTimestamp: timestamp(nowMs) }
  const result: TokenRequest = { ...tokenRequest, metadata, spec }
  delete result.status
  const faults = tokenRequests.validate?.object?.(result) ?? []
  if (faults.length > 0) throw invalid(groupKind, '', faults)
  await services.admission.validate({ ...attributes(context, 'CREATE', structuredClone(result)), kind: tokenRequests })
  const bound = await boundTo(target, spec.boundObjectRef)
  limitExpiration(spec, tokens.issuer.maxExpirationSeconds, context.warnings)
  const seconds = spec.expirationSeconds ?? 0
  const { token, credentialId } = await issueToken(tokens, {
    namespace,
    account: referenceTo(account),
    audiences: spec.audiences,
    seconds,
    bound,
    nowMs,
  })
  result.status = { token, expirationTimestamp: timestamp(nowMs + seconds * 1000) }
  context.annotate('authentication.kubernetes.io/issued-credential-id', credentialId)
  return objectResponse(representation, unstored(tokenRequestResource, result), 201)
}

const referenceTo = ({ name = '', uid = '' }: KubeObject['metadata']): Reference => ({ name, uid })

/** Throws 422 if the body names another account than the URL. */
function checkIdentity({ metadata }: TokenRequest, namespace: string, name: string): void {
  if (metadata.name && metadata.name !== name)
    throw invalid(groupKind, name, [
      invalidValue('metadata.name', metadata.name, 'must match the service account name if specified'),
    ])
  if (metadata.namespace && metadata.namespace !== namespace)
    throw invalid(groupKind, name, [
      invalidValue('metadata.namespace', metadata.namespace, 'must match the service account namespace if specified'),
    ])
}

/**
 * Throws 409 if the body has the UID of another account of the same name (`TokenRequestServiceAccountUIDValidation`).
 */
function checkUid({ metadata }: TokenRequest, { name = '', uid = '' }: KubeObject['metadata']): void {
  if (!metadata.uid || metadata.uid === uid) return
  const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`
  throw conflict(groupKind, name, why)
}

/** An object of the request's namespace, or a cluster-scoped one. Throws 404. */
async function read<T extends KubeObject>(
  { services, request }: Target,
  resource: ServedResource,
  name: string,
): Promise<T> {
  const object = await services.registry.current(
    resource,
    resource.key(resource.namespaced ? request.info.namespace : '', name),
  )
  if (!object) throw notFound(resource.groupResource, name)
  return object.parse<T>()
}

/**
 * The object whose deletion invalidates the token. Throws 400 for kinds that tokens cannot be bound to, 404, and 409
 * for another uid.
 */
async function boundTo(
  target: Target,
  ref: V1BoundObjectReference | undefined,
): Promise<Pick<BoundClaims, 'pod' | 'secret' | 'node'>> {
  if (!ref) return {}
  const { kind = '', name = '', uid } = ref
  const [group, version] = groupVersionOf(ref.apiVersion ?? '')
  const bound = group === '' ? await boundObjects(target, kind, name) : undefined
  if (!bound) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  const { uid: liveUid } = (kind === 'Pod' ? bound.pod : kind === 'Node' ? bound.node : bound.secret)!
  if (uid && uid !== liveUid) {
    const why =
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have ` +
      'been deleted and then recreated'
    throw conflict({ group: '', name: kind }, name, why)
  }
  return bound
}

/** An invalid apiVersion gives two empty strings. */
function groupVersionOf(apiVersion: string): readonly [group: string, version: string] {
  const parts = apiVersion.split('/', 3)
  if (parts.length > 2) return ['', '']
  return parts.length === 2 ? [parts[0]!, parts[1]!] : ['', parts[0]!]
}

async function boundObjects(
  target: Target,
  kind: string,
  name: string,
): Promise<Pick<BoundClaims, 'pod' | 'secret' | 'node'> | undefined> {
  const { services, request } = target
  const { nodes } = services.places
  if (kind === 'Secret') return { secret: referenceTo((await read(target, services.secrets, name)).metadata) }
  if (kind === 'Node') return { node: referenceTo((await read(target, nodes, name)).metadata) }
  if (kind !== 'Pod') return undefined
  const { metadata, spec } = await read<Model<V1Pod>>(target, services.pods, name)
  const account = request.info.name
  if (spec?.serviceAccountName !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different ` +
        'serviceaccount name.',
    )
  }
  const pod = referenceTo(metadata)
  if (!spec.nodeName) return { pod }
  // A node that does not exist is identified by its name alone.
  const node = await services.registry.lookUp(nodes, nodes.key('', spec.nodeName))
  return { pod, node: node ? referenceTo(node.parse().metadata) : { name: spec.nodeName, uid: '' } }
}

/** Limits the expiration to the server's maximum (`--service-account-max-token-expiration`). */
function limitExpiration(
  spec: { expirationSeconds?: number },
  maxSeconds: number | undefined,
  warnings: string[],
): void {
  const requested = spec.expirationSeconds ?? 0
  if (!maxSeconds || requested <= maxSeconds) return
  warnings.push(`requested expiration of ${requested} seconds shortened to ${maxSeconds} seconds`)
  spec.expirationSeconds = maxSeconds
}
