/** `pods/NAME/binding` and `bindings`: binds a pod to a node, once. */

import { bindings } from '../../../api/core/pod/binding.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest, conflict, internal } from '../../../machinery/status-error.ts'
import { statusResponse } from '../../negotiation/error-response.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import { decodeObject } from '../../request/bodies/decode-object.ts'
import { checkNamespace } from '../../request/identity.ts'
import { writeOptions } from '../../request-options/write-options.ts'
import { admit, noAdmission } from '../admitted.ts'
import { type Endpoint, type Target, writeContext } from '../endpoint.ts'
import { created } from './created.ts'

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string }
}

interface Pod extends KubeObject {
  spec: { nodeName?: string; schedulingGates?: unknown[] }
  status?: {
    nominatedNodeName?: string
    conditions?: { type: string; status: string; lastTransitionTime?: string; lastProbeTime?: null }[]
  }
}

const bindingResource = new ServedResource(bindings)

export const bindPod: Endpoint = async (target) => bind(target, target.request.info.name)

/** POST to `bindings`: the pod's name is in the body. */
export const createBinding: Endpoint = async (target) => bind(target, undefined)

async function bind(target: Target, nameInUrl: string | undefined) {
  const { services, request } = target
  const options = writeOptions(request.query, 'CreateOptions')
  const binding = (await decodeObject(request, bindingResource, options, services.knowsKind)) as Binding
  checkNamespace(binding, bindingResource, request.info.namespace)
  const requested = writeContext(target, options)
  await admit({ ...requested, name: nameInUrl ?? '' }, 'CREATE', binding, bindings)
  const name = nameInUrl ?? binding.metadata.name ?? ''
  if (nameInUrl && binding.metadata.name && binding.metadata.name !== nameInUrl)
    throw badRequest('name in URL does not match name in Binding object')
  const node = targetNode(binding)
  const context = { ...requested, admission: noAdmission, resource: services.pods, name, subresource: 'binding' }
  await updateObject(context, {
    startsFromLive: true,
    change: (live) => {
      const pod = live as Pod
      checkBindable(pod, name, binding.metadata.uid)
      assign(pod, node, binding, context.now())
      return { object: pod }
    },
  })
  return statusResponse(request, created(), 201)
}

/** Returns the name of the node. Upstream returns these errors without a reason. */
function targetNode({ target }: Binding): string {
  if (target?.kind && target.kind !== 'Node')
    throw internal(
      `target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`,
    )
  if (!target?.name) throw internal('target.name: Required value')
  return target.name
}

/** Throws a Conflict if the pod cannot be bound. `uid` is the UID that the pod must have, if there is one. */
function checkBindable({ metadata, spec }: Pod, name: string, uid: string | undefined): void {
  const reject = (message: string): never => {
    throw conflict({ group: '', name: 'pods/binding' }, name, message)
  }
  if (uid && uid !== metadata.uid)
    reject(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
  if (metadata.deletionTimestamp) reject(`pod ${name} is being deleted, cannot be assigned to a host`)
  if (spec.nodeName) reject(`pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`)
  if (spec.schedulingGates?.length) reject(`pod ${name} has non-empty .spec.schedulingGates`)
}

/** Assigns the pod to the node at the time `now`, with the labels and annotations of the binding. */
function assign(pod: Pod, node: string, { metadata: { labels, annotations } }: Binding, now: string): void {
  pod.spec.nodeName = node
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels }
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  pod.status ??= {}
  // The nomination is obsolete once the pod is bound.
  pod.status.nominatedNodeName = undefined
  const others = (pod.status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled')
  pod.status.conditions = [
    ...others,
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
  ]
}
