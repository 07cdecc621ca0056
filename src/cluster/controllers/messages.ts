/** What controllers of a cluster are started with, and what the serving thread and theirs say to each other. */
import type { ControllerPlan } from '../../controllers/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import type { ComponentReport, ThreadOrder } from '../threads/component-thread.ts'

/** Where the server is, and the PEM bundle that it is checked by; pods check it by the same. */
export interface ServerPlace {
  readonly url: string
  readonly ca: string
}

/** Where controllers tell of themselves, as kube-controller-manager does. */
export interface ManagerPlace {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: KeyPair
}

/** All that is needed to run controllers: plain data, for another thread. */
export interface ControllerTask {
  readonly plan: ControllerPlan
  readonly server: ServerPlace
  /** Signs certificates that are asked for. */
  readonly authority: KeyPair
  /** Nowhere unless said. */
  readonly manager?: ManagerPlace
}

export type Claims = Readonly<Record<string, unknown>>

/** To the thread. */
export type Order =
  | ThreadOrder
  | { readonly signed: number; readonly token: string }
  | { readonly signed: number; readonly error: string }

/** From the thread. */
export type Report =
  | ComponentReport
  | { readonly begun: true }
  | { readonly failed: string }
  | { readonly sign: number; readonly claims: Claims }
