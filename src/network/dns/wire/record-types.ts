/** Numbers of DNS: types of records, response codes and bits of the header (RFC 1035, RFC 6891). */

/** Types of records that this server knows; others are only forwarded. */
export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  ANY: 255,
} as const

export const classes = { internet: 1, any: 255 } as const

export const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const

/** Bits of the second 16-bit word of a header. */
export const headerFlags = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  checkingDisabled: 0x0010,
} as const

export const headerBytes = 12

/** The name of a type in metrics: `A`, or `other`. */
export function typeText(type: number): string {
  return Object.entries(types).find(([, number]) => number === type)?.[0] ?? 'other'
}

/** The name of a response code in metrics. */
export function rcodeText(code: number): string {
  return Object.entries(rcodes).find(([, number]) => number === code)?.[0] ?? `RCODE${code}`
}
