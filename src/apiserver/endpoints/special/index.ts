/** Subresources that do something else than write a part of their object, by `plural/subresource` and method. */
import type { Endpoint } from '../endpoint.ts'
import { bindPod } from './binding.ts'
import { evictPod } from './eviction.ts'
import { proxy } from './proxy.ts'

export const specialSubresources: Readonly<Record<string, Readonly<Partial<Record<string, Endpoint>>>>> = {
  'pods/binding': { POST: bindPod },
  'pods/eviction': { POST: evictPod },
  'pods/proxy': proxy,
  'services/proxy': proxy,
  'nodes/proxy': proxy,
}
