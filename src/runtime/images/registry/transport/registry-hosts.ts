/** Addresses of registries: mirrors first, then the registry itself. */
import { isLoopbackHost } from '../../../../lib/loopback-host.ts'
import { ImageError } from '../../image-error.ts'

export interface RegistrySettings {
  /** URLs of mirrors by registry, tried in order before it: `{ 'registry.test': ['http://127.0.0.1:5000'] }`. */
  readonly mirrors?: Readonly<Record<string, readonly string[]>>
  /** Registries without TLS. Those on loopback addresses need not be named. */
  readonly insecure?: readonly string[]
}

export interface RegistryHost {
  /** Origin and the path of the API: `https://registry.test/v2`. */
  readonly url: string
  readonly isMirror: boolean
}

/** Docker's registry has another host than its name. */
const hubName = 'docker.io'
const hubHost = 'registry-1.docker.io'

/** Returns the hosts to try for a registry, such as `registry.test:5000`. Throws an ImageError for a wrong mirror. */
export function registryHosts(registry: string, { mirrors = {}, insecure = [] }: RegistrySettings): RegistryHost[] {
  const host = registry === hubName ? hubHost : registry
  const scheme = insecure.includes(registry) || isLoopbackHost(registry) ? 'http' : 'https'
  return [
    ...(mirrors[registry] ?? []).map((mirror) => ({ url: `${baseOf(mirror)}/v2`, isMirror: true })),
    { url: `${scheme}://${host}/v2`, isMirror: false },
  ]
}

function baseOf(mirror: string): string {
  const url = URL.parse(mirror.includes('://') ? mirror : `https://${mirror}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new ImageError(
      'InvalidArgument',
      `${JSON.stringify(mirror)} is no mirror: use a URL such as https://mirror.test`,
    )
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
