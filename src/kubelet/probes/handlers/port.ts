/** Ports of probes and hooks: numbers, or names of a container's ports. */
import { goQuote } from '../../../lib/go/go-quote.ts'
import type { Container } from '../../pod-types.ts'
import { ProbeError } from './outcome.ts'

/** Throws a ProbeError with upstream's message if there is no such port. */
export function containerPort(port: number | string, { ports = [] }: Container): number {
  const named = typeof port === 'string' ? ports.find(({ name }) => name === port)?.containerPort : undefined
  const number = named ?? numberOf(port)
  if (number > 0 && number < 65536) return number
  throw new ProbeError(`invalid port number: ${number}`)
}

/** A number may be written as a text. */
function numberOf(port: number | string): number {
  if (typeof port === 'number') return port
  if (/^[+-]?\d+$/.test(port)) return Number(port)
  throw new ProbeError(`strconv.Atoi: parsing ${goQuote(port)}: invalid syntax`)
}

/** `HOST:PORT`, with IPv6 addresses in brackets. */
export const joinHostPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
