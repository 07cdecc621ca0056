/** The waiting reasons of failed pulls, from the runtime's message. */

/** Errors of CRI: their names begin the runtime's message. */
const knownFailures: Readonly<Record<string, string>> = {
  RegistryUnavailable: 'the registry is unavailable',
  SignatureValidationFailed: 'the signature validation failed',
}

export function pullFailure(image: string, message: string): { readonly reason: string; readonly message: string } {
  for (const [reason, text] of Object.entries(knownFailures))
    if (message.startsWith(reason))
      return { reason, message: `image pull failed for ${image} because ${text}${message.slice(reason.length)}` }
  return { reason: 'ErrImagePull', message }
}
