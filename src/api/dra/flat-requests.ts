/**
 * Conversion between resource.k8s.io/v1beta1 and v1. In v1beta1, requests have the fields of `exactly` themselves, and
 * devices have theirs under `basic`.
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

/** The fields of claims and templates that differ. */
interface WithDevices extends KubeObject {
  spec?: { devices?: Devices; spec?: { devices?: Devices } }
}

/** Converts a v1beta1 claim to v1, in place; `find` returns its devices. */
export function claimFromV1beta1(object: KubeObject, find: (object: WithDevices) => Devices | undefined): KubeObject {
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

/** Converts a v1 claim to v1beta1, in place; `find` returns its devices. */
export function claimToV1beta1(object: KubeObject, find: (object: WithDevices) => Devices | undefined): KubeObject {
  const devices = find(object as WithDevices)
  object.apiVersion = 'resource.k8s.io/v1beta1'
  if (devices?.requests)
    devices.requests = devices.requests.map(({ exactly, ...request }) => ({ ...request, ...exactly }))
  return object
}

interface WithSlices extends KubeObject {
  spec?: { devices?: { name: string; basic?: Record<string, unknown>; [field: string]: unknown }[] }
}

/** Converts a v1beta1 slice to v1, in place. */
export function sliceFromV1beta1(object: KubeObject): KubeObject {
  const { spec } = object as WithSlices
  object.apiVersion = 'resource.k8s.io/v1'
  if (spec?.devices) spec.devices = spec.devices.map(({ name, basic }) => ({ name, ...basic }))
  return object
}

/** Converts a v1 slice to v1beta1, in place. */
export function sliceToV1beta1(object: KubeObject): KubeObject {
  const { spec } = object as WithSlices
  object.apiVersion = 'resource.k8s.io/v1beta1'
  if (spec?.devices) spec.devices = spec.devices.map(({ name, ...basic }) => ({ name, basic }))
  return object
}
