/**
 * resource.k8s.io/v1beta1 has two shapes of its own: requests hold what v1 has under `exactly`, devices under `basic`.
 */
import type { KubeObject } from '../../machinery/object.ts'

interface Request {
  name: string
  exactly?: Record<string, unknown>
  firstAvailable?: unknown
  [field: string]: unknown
}

interface Devices {
  requests?: Request[]
}

/** The part of claims and templates that differs. */
interface WithDevices extends KubeObject {
  spec?: { devices?: Devices; spec?: { devices?: Devices } }
}

/** A v1beta1 claim in v1's shape; `find` gives the devices that it asks for. The object is changed. */
export function claimFromFlat(object: KubeObject, find: (object: WithDevices) => Devices | undefined): KubeObject {
  const devices = find(object as WithDevices)
  object.apiVersion = 'resource.k8s.io/v1'
  if (devices?.requests)
    devices.requests = devices.requests.map(({ name, firstAvailable, ...exactly }) => ({
      name,
      ...(Object.keys(exactly).length > 0 && { exactly }),
      ...(firstAvailable !== undefined && { firstAvailable }),
    }))
  return object
}

/** The other way around. */
export function claimToFlat(object: KubeObject, find: (object: WithDevices) => Devices | undefined): KubeObject {
  const devices = find(object as WithDevices)
  object.apiVersion = 'resource.k8s.io/v1beta1'
  if (devices?.requests)
    devices.requests = devices.requests.map(({ exactly, ...request }) => ({ ...request, ...exactly }))
  return object
}

interface WithSlices extends KubeObject {
  spec?: { devices?: { name: string; basic?: Record<string, unknown>; [field: string]: unknown }[] }
}

/** A v1beta1 slice in v1's shape. The object is changed. */
export function sliceFromBasic(object: KubeObject): KubeObject {
  const { spec } = object as WithSlices
  object.apiVersion = 'resource.k8s.io/v1'
  if (spec?.devices) spec.devices = spec.devices.map(({ name, basic }) => ({ name, ...basic }))
  return object
}

/** The other way around. */
export function sliceToBasic(object: KubeObject): KubeObject {
  const { spec } = object as WithSlices
  object.apiVersion = 'resource.k8s.io/v1beta1'
  if (spec?.devices) spec.devices = spec.devices.map(({ name, ...basic }) => ({ name, basic }))
  return object
}
