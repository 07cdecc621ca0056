/** Go's names of TLS versions and cipher suites, and those of OpenSSL. */
import { getCiphers } from 'node:tls'

/** TLS 1.0 and 1.1 are deprecated (RFC 8996). */
export const minVersions: Readonly<Record<string, 'TLSv1.2' | 'TLSv1.3'>> = {
  VersionTLS10: 'TLSv1.2',
  VersionTLS11: 'TLSv1.2',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

/** True if OpenSSL has the suite. */
export const isKnownSuite = (suite: string): boolean =>
  /^TLS_/.test(suite) && getCiphers().includes(openSslName(suite).toLowerCase())

/**
 * Converts `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` to ECDHE-RSA-AES128-GCM-SHA256. Suites of TLS 1.3 have the same
 * names (RFC 8446, B.4).
 */
export function openSslName(suite: string): string {
  const [, exchange = '', cipher = ''] = /^TLS_(?:RSA_|(\w+?)_)WITH_(\w+)$/.exec(suite) ?? []
  if (cipher === '') return suite
  const short = cipher
    .replace(/^AES_(\d+)_(CBC_)?/, 'AES$1-')
    .replace(/-GCM_/, '-GCM-')
    .replace(/^CHACHA20_POLY1305(_SHA256)?$/, 'CHACHA20-POLY1305')
  return [exchange.replace('_', '-'), short].filter(Boolean).join('-')
}
