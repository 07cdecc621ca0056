/** `certificatesigningrequests/NAME/approval`: approves or denies; only the conditions change. */
import type { KubeObject } from '../../../machinery/object.ts'
import { representationFor } from '../../negotiation/representation.ts'
import { decodeObject } from '../../request/decode-object.ts'
import { checkName } from '../../request/identity.ts'
import { readPatch } from '../../request/read-patch.ts'
import { writeOptions } from '../../request/write-options.ts'
import { updateObject } from '../../registry/update-object.ts'
import { timestamp } from '../../registry/write-context.ts'
import { get } from '../get.ts'
import { type Endpoint, objectResponse, type Target, writeContext } from '../endpoint.ts'

interface Condition {
  type: string
  status: string
  lastUpdateTime?: string
  lastTransitionTime?: string
}

interface SigningRequest extends KubeObject {
  status?: { conditions?: Condition[] }
}

export const getApproval: Endpoint = get

export const updateApproval: Endpoint = async (target) => {
  const options = writeOptions(target.request.query, 'UpdateOptions')
  const sent = await decodeObject(target.request, target.resource, options, target.services.knowsKind)
  checkName(sent, target.request.info.name)
  return write(target, options, () => sent)
}

export const patchApproval: Endpoint = async (target) => {
  const options = writeOptions(target.request.query, 'PatchOptions')
  return write(target, options, await readPatch(target.request, target.resource, options))
}

async function write(target: Target, options: ReturnType<typeof writeOptions>, change: (live: KubeObject) => SigningRequest) {
  const { request, resource } = target
  const representation = representationFor(request, resource, 'object')
  const { object } = await updateObject(writeContext(target, options), {
    retries: 5,
    change: (live) => {
      const approved = live as SigningRequest
      const asked = change(structuredClone(approved))
      const now = timestamp()
      const before = approved.status?.conditions ?? []
      const conditions = (asked.status?.conditions ?? []).map((condition) => ({
        ...condition,
        lastUpdateTime: condition.lastUpdateTime ?? now,
        lastTransitionTime: condition.lastTransitionTime ?? before.find(({ type, status }) => type === condition.type && status === condition.status)?.lastTransitionTime ?? now,
      }))
      approved.status = { ...approved.status, conditions }
      if (asked.metadata.resourceVersion) approved.metadata.resourceVersion = asked.metadata.resourceVersion
      return { object: approved }
    },
  })
  return objectResponse(representation, object)
}
