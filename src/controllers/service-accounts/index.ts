/** Accounts that pods run under, and what they need to speak to the API. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { serviceAccountController } from './default-account.ts'
import { rootCaPublisher } from './root-ca-publisher.ts'
import { tokensController } from './token-secrets.ts'

export const controllers: readonly ControllerDescriptor[] = [
  { name: 'serviceaccount-controller', aliases: ['serviceaccount'], account: 'service-account-controller', make: () => serviceAccountController },
  {
    name: 'root-ca-certificate-publisher-controller',
    aliases: ['root-ca-cert-publisher'],
    account: 'root-ca-cert-publisher',
    make: ({ rootCA }) => rootCaPublisher(rootCA),
  },
  // It has no account of its own: without it there would be none.
  {
    name: 'serviceaccount-token-controller',
    aliases: ['serviceaccount-token'],
    make: ({ rootCA, signToken }) => tokensController({ rootCA, sign: signToken }),
  },
]
