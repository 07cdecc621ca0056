/** The URLs of a kubelet's API. */
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http-error.ts'
import type { ContainerPath } from './served-nodes.ts'

/** The parts of a request's URL. */
export interface Target {
  readonly path: string
  readonly query: URLSearchParams
  /** The parts of the path, decoded: `containerLogs`, namespace, pod, container. */
  readonly parts: readonly string[]
}

/** Throws 400 for a path that cannot be decoded. */
export function targetOf({ url = '/' }: IncomingMessage): Target {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  return { path, query, parts: path.split('/').slice(1).map(decoded) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new HttpError(400, 'the path is not valid')
  }
}

/** The pod and container in a path: `/KIND/NAMESPACE/POD[/UID][/CONTAINER]`; only port-forwarding has no container. */
export function containerPathOf({ parts }: Pick<Target, 'parts'>): ContainerPath {
  const [kind, namespace = '', name = '', ...rest] = parts
  const container = kind === 'portForward' ? '' : (rest.at(-1) ?? '')
  const uids = kind === 'portForward' ? rest : rest.slice(0, -1)
  return { namespace, name, container, ...(uids[0] && { uid: uids[0] }) }
}
