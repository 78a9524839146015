// user:password@ of a URL, and parameters whose name says that the value is not for everyone.
const PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/]*@/gi
const PARAMETER = /([?&][^=\s&]*(?:pass|secret|token|key)[^=\s&]*=)[^\s&'"]+/gi

/** Text without the passwords and tokens of the URLs in it: an error may quote the command line. */
export function withoutSecrets(text: string): string {
  return text.replace(PASSWORD, '$1:***@').replace(PARAMETER, '$1***')
}
