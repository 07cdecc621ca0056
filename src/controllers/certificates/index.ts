/** Certificates that are asked for: approved, signed, and forgotten. */
import type { ControllerDescriptor } from '../descriptor.ts'

const account = 'certificate-controller'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'certificatesigningrequest-approving-controller',
    aliases: ['csrapproving'],
    account,
    make: async ({ signer }) => (await import('./approving.ts')).csrApproving(signer),
  },
  {
    name: 'certificatesigningrequest-signing-controller',
    aliases: ['csrsigning'],
    account,
    make: async ({ signer }) => (await import('./signing.ts')).csrSigning(signer),
  },
  {
    name: 'certificatesigningrequest-cleaner-controller',
    aliases: ['csrcleaner'],
    account,
    make: async () => (await import('./cleaner.ts')).csrCleaner(),
  },
]
