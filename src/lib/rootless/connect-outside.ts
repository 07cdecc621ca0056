/** Connections of a process in a user namespace to servers on loopback addresses of the machine. */
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { socketFolder } from './socket-folder.ts'

/** The name of the socket for connections to loopback addresses of the machine, in the folder of sockets. */
export const connectionsSocket = 'connections.sock'

/** The first line of such a connection, as JSON; what follows is for the address. */
export interface ConnectionRequest {
  readonly host: string
  readonly port: number
}

/** Undefined if this process has the machine's network. The connection ends if nothing listens at the address. */
export function connectOutside(request: ConnectionRequest): Socket | undefined {
  const folder = socketFolder()
  if (folder === undefined) return undefined
  const socket = connect(join(folder, connectionsSocket))
  socket.write(`${JSON.stringify(request)}\n`)
  return socket
}
