/** The user of a container: names are looked up in `/etc/passwd` and `/etc/group` of its image. */

import type { LinuxContainerSecurityContext } from '#protobuf/cri-runtime_pb.js'
import { SupplementalGroupsPolicy } from '#protobuf/cri-values_pb.js'
import { RpcError } from '../../lib/grpc/grpc-error.ts'
import type { ContainerUser } from '../state/records.ts'

/** Texts of the image's files; '' for missing ones. */
export interface UserFiles {
  readonly passwd: string
  readonly group: string
}

interface PasswdEntry {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
}

interface GroupEntry {
  readonly name: string
  readonly gid: number
  readonly members: readonly string[]
}

export interface ResolvedUser extends ContainerUser {
  readonly home: string
}

/** `imageUser` is the user of the image, such as `1000:1000`. Throws an RpcError for users that are not found. */
export function resolveUser(
  context: LinuxContainerSecurityContext | undefined,
  imageUser: string,
  files: UserFiles,
): ResolvedUser {
  const passwd = parsePasswd(files.passwd)
  const groups = parseGroup(files.group)
  const [userText, groupText] = wantedUser(context, imageUser)
  const user = userOf(userText, passwd)
  const gid = groupText === '' ? (user.gid ?? 0) : gidOf(groupText, groups)
  const supplemental = (context?.supplementalGroups ?? []).map(Number)
  const isStrict = context?.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict
  const own = isStrict ? [] : groups.filter(({ members }) => user.name && members.includes(user.name))
  const all = [gid, ...own.map((group) => group.gid), ...supplemental]
  return { uid: user.uid, gid, groups: [...new Set(all)], home: user.home }
}

function wantedUser(context: LinuxContainerSecurityContext | undefined, imageUser: string): [string, string] {
  const { runAsUser, runAsUsername = '', runAsGroup } = context ?? {}
  const group = runAsGroup ? String(runAsGroup.value) : ''
  if (runAsUser) return [String(runAsUser.value), group]
  if (runAsUsername) return [runAsUsername, group]
  if (group) throw new RpcError('InvalidArgument', `user group ${JSON.stringify(group)} is specified without user`)
  const [user = '', imageGroup = ''] = imageUser.split(':')
  return [user, imageGroup]
}

function userOf(text: string, passwd: readonly PasswdEntry[]) {
  if (text === '') return passwd.find(({ uid }) => uid === 0) ?? { name: 'root', uid: 0, gid: 0, home: '/root' }
  const isNumber = /^\d+$/.test(text)
  const entry = passwd.find(({ name, uid }) => (isNumber ? uid === Number(text) : name === text))
  if (entry) return entry
  if (!isNumber) throw new RpcError('Unknown', `unable to find user ${text}: no matching entries in passwd file`)
  return { name: '', uid: Number(text), gid: undefined, home: '/' }
}

function gidOf(text: string, groups: readonly GroupEntry[]): number {
  if (/^\d+$/.test(text)) return Number(text)
  const entry = groups.find(({ name }) => name === text)
  if (!entry) throw new RpcError('Unknown', `unable to find group ${text}: no matching entries in group file`)
  return entry.gid
}

const fieldsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(':'))

const parsePasswd = (text: string): PasswdEntry[] =>
  fieldsOf(text).map(([name = '', , uid, gid, , home]) => ({
    name,
    uid: Number(uid),
    gid: Number(gid),
    home: home || '/',
  }))

const parseGroup = (text: string): GroupEntry[] =>
  fieldsOf(text).map(([name = '', , gid, members = '']) => ({
    name,
    gid: Number(gid),
    members: members.split(',').filter(Boolean),
  }))
