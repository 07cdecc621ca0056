/** The TLS flags: versions, cipher suites, certificates by host name. */
import { getCiphers } from 'node:tls'
import type { NamedPair, TransportOptions } from '../../../apiserver/http/secure/transport.ts'
import { type FlagValues, namedCertKey } from '../../../apiserver/serving-flags/index.ts'
import { followKeyPair } from '../../credentials/identity-files.ts'
import { absolute, type FlagContext } from '../flag-context.ts'

/** TLS 1.0 and 1.1 are deprecated (RFC 8996). */
const minVersions: Readonly<Record<string, TransportOptions['minVersion']>> = {
  VersionTLS10: 'TLSv1.2',
  VersionTLS11: 'TLSv1.2',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

/** Returns upstream's errors for invalid values; empty if there are none. */
export function transportErrors(flags: FlagValues): string[] {
  const version = flags.text('tls-min-version') ?? ''
  return [
    ...(version !== '' && !Object.hasOwn(minVersions, version)
      ? [`unknown tls version ${JSON.stringify(version)}`]
      : []),
    ...(flags.list('tls-cipher-suites') ?? []).flatMap((suite) =>
      isKnown(suite) ? [] : [`Cipher suite ${suite} not supported or doesn't exist`],
    ),
  ]
}

/** Contains only what flags set. Throws an ExplainedError for files that cannot be read. */
export function transportOptions({ flags, cwd, log }: FlagContext): TransportOptions {
  const version = flags.text('tls-min-version')
  const suites = flags.list('tls-cipher-suites')
  const of12 = suites?.map(openSslName).filter((suite) => !suite.startsWith('TLS_'))
  return {
    ...(version && { minVersion: minVersions[version] }),
    ...(of12?.length && { ciphers: of12 }),
    ...(flags.bool('disable-http2-serving') && { withoutHttp2: true }),
    named: (flags.list('tls-sni-cert-key') ?? []).map((text): NamedPair => {
      const { certFile, keyFile, names } = namedCertKey(text)
      const both = { cert: '--tls-sni-cert-key', key: '--tls-sni-cert-key' }
      return { names, pair: followKeyPair(absolute(cwd, certFile) ?? '', absolute(cwd, keyFile) ?? '', both, log) }
    }),
  }
}

const isKnown = (suite: string): boolean =>
  /^TLS_/.test(suite) && getCiphers().includes(openSslName(suite).toLowerCase())

/**
 * Converts `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` to ECDHE-RSA-AES128-GCM-SHA256. Suites of TLS 1.3 have the same
 * names (RFC 8446, B.4).
 */
function openSslName(suite: string): string {
  const [, exchange = '', cipher = ''] = /^TLS_(?:RSA_|(\w+?)_)WITH_(\w+)$/.exec(suite) ?? []
  if (cipher === '') return suite
  const short = cipher
    .replace(/^AES_(\d+)_(CBC_)?/, 'AES$1-')
    .replace(/-GCM_/, '-GCM-')
    .replace(/^CHACHA20_POLY1305(_SHA256)?$/, 'CHACHA20-POLY1305')
  return [exchange.replace('_', '-'), short].filter(Boolean).join('-')
}
