/** The options of a cluster's controllers, and the messages between their thread and the serving thread. */
import type { ControllerPlan } from '../../controllers/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import type { ComponentReport, ThreadCommand } from '../threads/component-thread.ts'

/** The server's URL and the PEM bundle that verifies it, also for pods. */
export interface ServerEndpoint {
  readonly url: string
  readonly ca: string
}

/** Address and certificate of the controllers' port, as kube-controller-manager's. */
export interface ManagerEndpoint {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: KeyPair
}

/** Everything that controllers need, except their clock, as plain data. */
export interface ControllerSettings {
  readonly plan: ControllerPlan
  readonly server: ServerEndpoint
  /** Signs certificates for CertificateSigningRequests. */
  readonly authority: KeyPair
  /** True if other processes may run the controllers of the cluster: this one does while it holds the lease. */
  readonly isElected: boolean
  /** Default: no port. */
  readonly manager?: ManagerEndpoint
}

/** Everything that the thread of the controllers needs. */
export interface ControllerTask extends ControllerSettings {
  /** The memory of the cluster's clock. */
  readonly clockBuffer: SharedArrayBuffer
}

export type Claims = Readonly<Record<string, unknown>>

/** To the thread. */
export type ControllerCommand =
  | ThreadCommand
  | { readonly signed: number; readonly token: string }
  | { readonly signed: number; readonly error: string }

/** From the thread. */
export type Report =
  | ComponentReport
  | { readonly begun: true }
  | { readonly failed: string }
  | { readonly sign: number; readonly claims: Claims }
