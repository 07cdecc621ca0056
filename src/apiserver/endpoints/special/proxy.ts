/** `…/NAME/proxy` of pods, services and nodes. */
import { proxySubresource } from '../../proxy/index.ts'
import type { Endpoint } from '../endpoint.ts'
import { admitConnection } from './connection.ts'

const connect: Endpoint = async (target) => {
  await admitConnection(target)
  const { services, request } = target
  return proxySubresource(request, services.places, services.waitGroup)
}

export const proxy = {
  GET: connect,
  HEAD: connect,
  POST: connect,
  PUT: connect,
  PATCH: connect,
  DELETE: connect,
  OPTIONS: connect,
}
