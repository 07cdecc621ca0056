/** The places of a cluster's data: a data directory, or an etcd. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { dataDirectoryPaths } from '../../cluster/data-directory.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { EtcdOptions } from '../../storage/etcd/index.ts'

export type Place =
  | {
      readonly kind: 'directory'
      /** The data directory, and the folder of the store in it. */
      readonly path: string
      readonly store: string
    }
  | { readonly kind: 'etcd'; readonly options: EtcdOptions; readonly prefix: string }

/** Files of TLS for an etcd. */
export interface EtcdFiles {
  readonly cafile?: string | undefined
  readonly certfile?: string | undefined
  readonly keyfile?: string | undefined
}

const etcdScheme = 'etcd://'
const defaultPrefix = '/registry'
const urls = /^(https?|unixs?):\/\//
/** API servers compact etcd, not this program. */
const quiet = { compactionMs: 0 }

/**
 * Parses `etcd://HOST:PORT,HOST:PORT/PREFIX`, URLs as in `--etcd-servers`, or a directory. With files, etcd is reached
 * by TLS. Throws an ExplainedError for others, and for files that cannot be read.
 * @example placeOf('etcd://10.0.0.1:2379,10.0.0.2:2379', { cafile: 'ca.crt' })
 */
export function placeOf(text: string, files: EtcdFiles = {}): Place {
  const tls = { ...read(files.cafile, 'ca'), ...read(files.certfile, 'cert'), ...read(files.keyfile, 'key') }
  const isSecure = Object.keys(tls).length > 0
  if (urls.test(text)) return etcdAt({ servers: text.split(','), tls }, defaultPrefix)
  if (!text.startsWith(etcdScheme)) {
    if (text.includes('://')) throw new ExplainedError(`${text}: write a directory, or etcd://HOST:2379`)
    if (isSecure) throw new ExplainedError(`${text} is a directory: files of certificates are for etcd`)
    return { kind: 'directory', path: resolve(text), store: dataDirectoryPaths(text).store }
  }
  const [hosts = '', ...path] = text.slice(etcdScheme.length).split('/')
  const names = hosts.split(',').filter((host) => host !== '')
  if (names.length === 0) throw new ExplainedError(`${text} names no server: write etcd://HOST:2379`)
  const prefix = path.join('/').replace(/\/+$/, '')
  const servers = names.map((host) => `${isSecure ? 'https' : 'http'}://${host}`)
  return etcdAt({ servers, tls }, prefix === '' ? defaultPrefix : `/${prefix}`)
}

const etcdAt = (options: EtcdOptions, prefix: string): Place => ({
  kind: 'etcd',
  options: { ...options, prefix, ...quiet },
  prefix,
})

function read<Name extends string>(path: string | undefined, name: Name): { readonly [key in Name]?: Buffer } {
  if (path === undefined) return {}
  try {
    return { [name]: readFileSync(path) } as { readonly [key in Name]?: Buffer }
  } catch (error) {
    throw new ExplainedError(`cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
}

/** The place as users write it. */
export const showPlace = (place: Place): string =>
  place.kind === 'directory' ? place.path : `etcd ${place.options.servers.join(', ')}`

/** True if a directory has a store. */
export const hasStore = (place: Place): boolean => place.kind === 'etcd' || existsSync(place.store)
