import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { SecurityProfile_ProfileType as ProfileType, SecurityProfileSchema } from '#protobuf/cri-values_pb.js'
import { appArmorProfileOf } from './profile.ts'

const machine = { defaultProfile: 'typernetes-default', mayHave: (name: string) => name === 'loaded' }
const profileOf = (profileType: ProfileType, localhostRef = '') =>
  create(SecurityProfileSchema, { profileType, localhostRef })
const request = { isPrivileged: false, profile: undefined, legacyProfile: '' }

test('a container gets the default profile unless it is privileged or unconfined', () => {
  assert.equal(appArmorProfileOf(request, machine), 'typernetes-default')
  assert.equal(appArmorProfileOf({ ...request, legacyProfile: 'runtime/default' }, machine), 'typernetes-default')
  assert.equal(appArmorProfileOf({ ...request, isPrivileged: true }, machine), undefined)
  assert.equal(appArmorProfileOf({ ...request, legacyProfile: 'unconfined' }, machine), undefined)
  assert.equal(appArmorProfileOf({ ...request, profile: profileOf(ProfileType.Unconfined) }, machine), undefined)
})

test('a container gets a profile that is loaded', () => {
  for (const reference of ['loaded', 'localhost/loaded'])
    assert.equal(
      appArmorProfileOf(
        { ...request, isPrivileged: true, profile: profileOf(ProfileType.Localhost, reference) },
        machine,
      ),
      'loaded',
    )
  assert.equal(appArmorProfileOf({ ...request, legacyProfile: 'localhost/loaded' }, machine), 'loaded')
  assert.throws(
    () => appArmorProfileOf({ ...request, legacyProfile: 'localhost/other' }, machine),
    /apparmor profile not found other/,
  )
})

test('without AppArmor, a profile is an error', () => {
  assert.equal(appArmorProfileOf(request, undefined), undefined)
  assert.equal(appArmorProfileOf({ ...request, profile: profileOf(ProfileType.Unconfined) }, undefined), undefined)
  assert.throws(
    () => appArmorProfileOf({ ...request, profile: profileOf(ProfileType.RuntimeDefault) }, undefined),
    /apparmor is not supported/,
  )
})
