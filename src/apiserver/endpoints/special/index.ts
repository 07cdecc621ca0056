/** Subresources with endpoints of their own, by `plural/subresource` and method. */
import type { Endpoint } from '../endpoint.ts'
import { bindPod } from './binding.ts'
import { evictPod } from './eviction.ts'
import { containerStream, podLog, portForward } from './pod-streams.ts'
import { proxy } from './proxy.ts'
import { requestToken } from './token-request.ts'

export const specialSubresources: Readonly<Record<string, Readonly<Partial<Record<string, Endpoint>>>>> = {
  'pods/attach': { GET: containerStream, POST: containerStream },
  'pods/binding': { POST: bindPod },
  'pods/eviction': { POST: evictPod },
  'pods/exec': { GET: containerStream, POST: containerStream },
  'pods/log': { GET: podLog },
  'pods/portforward': { GET: portForward, POST: portForward },
  'pods/proxy': proxy,
  'serviceaccounts/token': { POST: requestToken },
  'services/proxy': proxy,
  'nodes/proxy': proxy,
}
