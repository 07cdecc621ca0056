/** Reads PKCS #10 requests. Loading the X.509 library costs more than a start: this file is only imported when there is one. */
import 'reflect-metadata'
import { Pkcs10CertificateRequest } from '@peculiar/x509'

export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Throws an Error for what is no request. */
export function subjectOf(pem: string): RequestedSubject {
  const { subjectName } = new Pkcs10CertificateRequest(pem)
  return { commonName: subjectName.getField('CN').at(-1) ?? '', organizations: subjectName.getField('O') }
}
