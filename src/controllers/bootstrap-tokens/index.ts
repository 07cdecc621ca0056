/** Tokens that new nodes join with. As upstream, both run only where they are named. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = [
  {
    name: 'bootstrap-signer-controller',
    queue: 'bootstrap_signer_queue',
    aliases: ['bootstrapsigner'],
    account: 'bootstrap-signer',
    isOffByDefault: true,
    make: async () => (await import('./signer.ts')).bootstrapSigner(),
  },
  {
    name: 'token-cleaner-controller',
    queue: 'token_cleaner',
    aliases: ['tokencleaner'],
    account: 'token-cleaner',
    isOffByDefault: true,
    make: async () => (await import('./token-cleaner.ts')).tokenCleaner(),
  },
]
