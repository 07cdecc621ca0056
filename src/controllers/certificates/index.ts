/** Certificates that are asked for: approved, signed, and forgotten. */
import type { ControllerDescriptor } from '../descriptor.ts'
import { csrApproving } from './approving.ts'
import { csrSigning } from './signing.ts'

const account = 'certificate-controller'

export const controllers: readonly ControllerDescriptor[] = [
  { name: 'certificatesigningrequest-approving-controller', aliases: ['csrapproving'], account, make: ({ signer }) => csrApproving(signer) },
  { name: 'certificatesigningrequest-signing-controller', aliases: ['csrsigning'], account, make: ({ signer }) => csrSigning(signer) },
]
