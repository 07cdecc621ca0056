/** Addresses of Docker engines, as `$DOCKER_HOST` has them. */
import { readFileSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface EngineAddress {
  /** As it was given: `unix:///var/run/docker.sock`. */
  readonly text: string
  readonly isTls: boolean
  /** The part of each request that says where it goes. */
  readonly target: RequestOptions
}

/** The address without `$DOCKER_HOST`. */
export const defaultEngineAddress = (platform: NodeJS.Platform = process.platform): string =>
  platform === 'win32' ? 'npipe:////./pipe/docker_engine' : 'unix:///var/run/docker.sock'

/** The ports of Docker without and with TLS. */
const ports = { plain: 2375, tls: 2376 } as const

/** Throws an Error that names the forms of addresses. `environment` has the settings of Docker's own client. */
export function engineAddress(given?: string, environment: NodeJS.ProcessEnv = process.env): EngineAddress {
  const text = given || environment.DOCKER_HOST || defaultEngineAddress()
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.+)$/.exec(text) ?? []
  if (scheme === 'unix') return { text, isTls: false, target: { socketPath: rest } }
  if (scheme === 'npipe') return { text, isTls: false, target: { socketPath: rest.replaceAll('/', '\\') } }
  if (scheme !== 'tcp' && scheme !== 'http' && scheme !== 'https')
    throw new Error(
      `${text} is no address of a Docker engine: write it like unix:///var/run/docker.sock or tcp://127.0.0.1:2375`,
    )
  const isTls = scheme === 'https' || (environment.DOCKER_TLS_VERIFY ?? '') !== ''
  const { hostname, port } = new URL(`http://${rest}`)
  const target = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (isTls ? ports.tls : ports.plain),
    ...(isTls && certificates(environment)),
  }
  return { text, isTls, target }
}

function certificates({ DOCKER_CERT_PATH, DOCKER_CONFIG }: NodeJS.ProcessEnv): RequestOptions {
  const folder = DOCKER_CERT_PATH || DOCKER_CONFIG || join(homedir(), '.docker')
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name), 'utf8'))
  return { ca, cert, key }
}
