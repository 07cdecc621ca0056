/** Reads PKCS #10 requests. Loaded when the first one comes: few clusters ever see one. */
import 'reflect-metadata'
import { Pkcs10CertificateRequest } from '@peculiar/x509'

export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** The subject that a request (PEM) asks for. Throws an Error for what is none. */
export function subjectOf(pem: string): Subject {
  const { subjectName } = new Pkcs10CertificateRequest(pem)
  return { commonName: subjectName.getField('CN').at(-1) ?? '', organizations: subjectName.getField('O') }
}
