{{- define "aivedio.labels" -}}
app.kubernetes.io/name: aivedio
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "aivedio.selector" -}}
app.kubernetes.io/name: aivedio
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "aivedio.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "aivedio.secret" -}}
{{ .Values.existingSecret | default (printf "%s-secrets" (include "aivedio.name" .)) }}
{{- end }}

{{- define "aivedio.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Not root, nothing to gain, and nothing to write but scratch. */}}
{{- define "aivedio.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "aivedio.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "aivedio.environment" -}}
envFrom:
  - configMapRef:
      name: {{ include "aivedio.name" . }}-env
  - secretRef:
      name: {{ include "aivedio.secret" . }}
{{- end }}

{{/* Changes when settings change, so that pods are replaced. */}}
{{- define "aivedio.podMeta" -}}
annotations:
  checksum/env: {{ include (print .root.Template.BasePath "/configmap.yaml") .root | sha256sum }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "9464"
  {{- with .root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
labels:
  {{- include "aivedio.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "aivedio.podPlace" -}}
serviceAccountName: {{ include "aivedio.name" .root }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
securityContext:
  {{- include "aivedio.podSecurity" .root | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "aivedio.selector" . | nindent 8 }}
{{- end }}

{{- define "aivedio.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}
