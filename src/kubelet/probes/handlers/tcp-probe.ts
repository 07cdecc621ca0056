/** Probes a container by a TCP connection: that it is accepted is success. */
import { connect } from 'node:net'
import { closeSocket } from './close-socket.ts'
import { dialMessage } from './network-error.ts'
import { failure, type ProbeOutcome, success } from './outcome.ts'
import { joinHostPort } from './port.ts'

export function probeTcp(host: string, port: number, timeoutMs: number): Promise<ProbeOutcome> {
  const address = joinHostPort(host, port)
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const timer = setTimeout(() => {
      socket.destroy()
      resolve(failure(`dial tcp ${address}: i/o timeout`))
    }, timeoutMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      closeSocket(socket)
      resolve(success())
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      resolve(failure(dialMessage(error, address) ?? `dial tcp ${address}: ${error.message}`))
    })
  })
}
