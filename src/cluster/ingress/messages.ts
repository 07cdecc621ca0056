/** The messages between the serving thread and the thread of the ingress proxy. */
import type { IngressOptions } from '../../network/ingress/ingress.ts'
import type { ComponentReport } from '../threads/component-thread.ts'

/** User name of the ingress proxy. */
export const ingressUser = 'system:t8s-ingress'

/** Everything that a thread needs to run the proxy, as plain data. */
export interface IngressTask {
  readonly options: IngressOptions
  readonly server: { readonly url: string; readonly ca: string; readonly token: string }
}

/** From the thread. */
export type Report = ComponentReport | { readonly failed: string }
