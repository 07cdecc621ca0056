/** Connections of a process in a user namespace to servers on loopback addresses of the machine. */
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { socketFolder } from '../socket-folder.ts'
import { type ConnectionRequest, connectionsSocket, lineOf } from './port-messages.ts'

/** Undefined if this process has the machine's network. The connection ends if nothing listens at the address. */
export function connectOutside(request: ConnectionRequest): Socket | undefined {
  const folder = socketFolder()
  if (folder === undefined) return undefined
  const socket = connect(join(folder, connectionsSocket))
  socket.write(lineOf(request))
  return socket
}
