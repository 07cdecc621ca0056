/** Accounts that pods run under, and what they need to speak to the API. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'serviceaccount-controller',
    aliases: ['serviceaccount'],
    account: 'service-account-controller',
    make: async () => (await import('./default-account.ts')).serviceAccountController,
  },
  {
    name: 'root-ca-certificate-publisher-controller',
    aliases: ['root-ca-cert-publisher'],
    account: 'root-ca-cert-publisher',
    make: async ({ rootCA }) => (await import('./root-ca-publisher.ts')).rootCaPublisher(rootCA),
  },
  // It has no account of its own: without it there would be none.
  {
    name: 'serviceaccount-token-controller',
    aliases: ['serviceaccount-token'],
    make: async ({ rootCA, signToken }) => (await import('./token-secrets.ts')).tokensController({ rootCA, sign: signToken }),
  },
]
