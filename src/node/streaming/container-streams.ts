/** The interface of what runs containers, for streams of clients: simulated pods, or a container runtime. */
import type { Duplex } from 'node:stream'
import type { RemoteCommand } from './remote-command/remote-command.ts'

export interface PodReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface ContainerReference extends PodReference {
  readonly container: string
}

export interface ContainerStreams {
  /** Runs a command in a container. Resolves with its exit code, or rejects if it cannot be started. */
  exec(container: ContainerReference, words: readonly string[], command: RemoteCommand): Promise<number>
  /** Connects the client with the main process of a container. Resolves when the process has ended. */
  attach(container: ContainerReference, command: RemoteCommand): Promise<void>
  /** Connects `connection` to a port of a pod. Resolves when it is closed, or rejects if the pod refuses it. */
  portForward(pod: PodReference, port: number, connection: Duplex): Promise<void>
}
