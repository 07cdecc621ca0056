/**
 * Reads PKCS #10 requests. Loading the X.509 library costs more than a start: this file is only imported when there is
 * one.
 */
import 'reflect-metadata'
import { type Name, Pkcs10CertificateRequest } from '@peculiar/x509'

export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Throws an Error for what is no request. */
export const subjectOf = (pem: string): RequestedSubject => subjectIn(new Pkcs10CertificateRequest(pem).subjectName)

/** Texts of types that X.509 does not have in names stand there as the bytes they are. */
const unreadable = /^#([0-9a-f]{2})*$/i

/**
 * Of several common names the last one counts, as with client certificates. Throws an Error for a text of an odd type:
 * whoever reads the certificate may make a group of it that was not seen here.
 */
export function subjectIn(name: Name): RequestedSubject {
  const texts = name.toJSON().flatMap((one) => Object.values(one).flat())
  if (texts.some((text) => typeof text === 'string' && unreadable.test(text)))
    throw new Error('unsupported string type')
  return { commonName: name.getField('CN').at(-1) ?? '', organizations: name.getField('O') }
}
