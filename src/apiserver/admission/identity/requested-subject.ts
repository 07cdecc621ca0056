/**
 * Parses PKCS #10 requests. Imported on first use: loading the X.509 library takes longer than the start of the server.
 */
import 'reflect-metadata'
import { type Name, Pkcs10CertificateRequest } from '@peculiar/x509'

export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Throws an Error for an invalid request. */
export const subjectOf = (pem: string): RequestedSubject => subjectIn(new Pkcs10CertificateRequest(pem).subjectName)

/** The library returns values of an unsupported string type as hexadecimal bytes. */
const unreadable = /^#([0-9a-f]{2})*$/i

/**
 * Of several common names the last one counts, as with client certificates. Throws an Error for an unsupported string
 * type: a reader of the certificate could decode it to a group that was not checked here.
 */
export function subjectIn(name: Name): RequestedSubject {
  const texts = name.toJSON().flatMap((one) => Object.values(one).flat())
  if (texts.some((text) => typeof text === 'string' && unreadable.test(text)))
    throw new Error('unsupported string type')
  return { commonName: name.getField('CN').at(-1) ?? '', organizations: name.getField('O') }
}
