/** What the serving thread and the controllers' thread say to each other. */
import type { ControllerPlan } from '../../controllers/index.ts'
import type { KeyPair } from '../pki/key-pair.ts'

/** Where the server is, and the PEM bundle that it is checked by; pods check it by the same. */
export interface ServerPlace {
  readonly url: string
  readonly ca: string
}

/** All that a thread needs to run controllers: plain data. */
export interface ControllerTask {
  readonly plan: ControllerPlan
  readonly server: ServerPlace
  /** Signs certificates that are asked for. */
  readonly authority: KeyPair
}

export type Claims = Readonly<Record<string, unknown>>

/** To the thread. */
export type Order = { readonly stop: true } | { readonly signed: number; readonly token: string } | { readonly signed: number; readonly error: string }

/** From the thread. */
export type Report = { readonly log: string } | { readonly synced: true } | { readonly sign: number; readonly claims: Claims }
