/** Subresources that one kind alone has, by `plural/subresource` and method. */
import type { Endpoint } from '../endpoint.ts'
import { updateApproval, getApproval, patchApproval } from './approval.ts'
import { bindPod } from './binding.ts'
import { finalizeNamespace } from './finalize.ts'

export const specialSubresources: Readonly<Record<string, Readonly<Partial<Record<string, Endpoint>>>>> = {
  'namespaces/finalize': { PUT: finalizeNamespace },
  'pods/binding': { POST: bindPod },
  'certificatesigningrequests/approval': { GET: getApproval, PUT: updateApproval, PATCH: patchApproval },
}
