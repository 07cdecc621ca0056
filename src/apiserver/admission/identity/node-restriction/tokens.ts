/** Nodes may request tokens only for the pods that run on them, bound to these pods. */

import type { Pod } from '../../../../api/core/pod/references/object-names.ts'
import { after } from '../../../../lib/flow/after.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import type { Authorizer } from '../../../authorization/authorizer.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { type StorageLookup, usesAudience } from './pod-audiences.ts'
import { type Lookup, type NodeWrite, quoted } from './write.ts'

interface TokenRequest extends KubeObject {
  readonly spec?: {
    readonly audiences?: readonly string[]
    readonly boundObjectRef?: {
      readonly apiVersion?: string
      readonly kind?: string
      readonly name?: string
      readonly uid?: string
    }
  }
}

/** Checks the audience only if an authorizer is given. */
export async function admitToken(
  write: NodeWrite,
  lookup: Lookup & StorageLookup,
  authorizer: Authorizer | undefined,
): Promise<void> {
  const { boundObjectRef: bound, audiences: requestedAudiences } = (write.object as TokenRequest).spec ?? {}
  // Go encodes a missing list as null.
  const audiences = requestedAudiences ?? []
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name)
    throw forbiddenWrite(write, 'node requested token not bound to a pod')
  if (!bound.uid) throw forbiddenWrite(write, 'node requested token with a pod binding without a uid')
  const pod = await lookup.pod(write.namespace, bound.name)
  if (bound.uid !== pod.metadata.uid) {
    throw forbiddenWrite(
      write,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might ` +
        'have been deleted and then recreated',
    )
  }
  if (pod.spec?.nodeName !== write.node)
    throw forbiddenWrite(write, 'node requested token bound to a pod scheduled on a different node')
  if (audiences.length > 1) throw forbiddenWrite(write, 'node may only request 0 or 1 audiences')
  // An empty audience means this server. Volumes request it without an audience: the default token of every pod.
  const [audience = ''] = audiences
  if (authorizer) await checkAudience(write, audience, pod, lookup, authorizer)
}

async function checkAudience(
  write: NodeWrite,
  audience: string,
  pod: Pod,
  lookup: StorageLookup,
  authorizer: Authorizer,
): Promise<void> {
  const isUsed = await usesAudience(pod, audience, lookup).catch((error) => {
    throw forbiddenWrite(
      write,
      `error validating audience ${quoted(audience)}: ${error instanceof Error ? error.message : error}`,
    )
  })
  if (isUsed || (await mayRequestAudience(write, audience, authorizer))) return
  const why =
    `audience ${quoted(audience)} not found in pod spec volume, ${write.user.name} is not authorized to request ` +
    'tokens for this audience'
  throw forbiddenWrite(write, why)
}

/** The permission for an audience is the verb below on a resource with the name of the audience. */
const mayRequestAudience = (
  { user, namespace, name }: NodeWrite,
  audience: string,
  authorizer: Authorizer,
): boolean | Promise<boolean> =>
  after(
    authorizer.authorize({
      user,
      info: {
        isResourceRequest: true,
        path: '',
        verb: 'request-serviceaccounts-token-audience',
        prefix: 'api',
        group: '',
        version: 'v1',
        namespace,
        resource: audience,
        subresource: '',
        name,
        rest: [],
      },
    }),
    ({ verdict }) => verdict === 'allow',
  )
