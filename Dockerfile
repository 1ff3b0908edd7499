# The command in a container, with Java and Kafka in the image:
#   docker build -t ticdc-producer .
#   docker run --rm --network host ticdc-producer run seed_t1 --sink-uri 'kafka://localhost:9092/seed_t1'
# The service, which requires a token if it listens on more than loopback (docs/serve.md):
#   docker run --rm -p 8642:8642 -p 9092:9092 -e TICDC_PRODUCER_TOKEN \
#     ticdc-producer serve --host 0.0.0.0 --kafka-address localhost:9092
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt "/src[spark,state]" && rm -r /src && useradd --create-home runner
USER runner
WORKDIR /home/runner
RUN ticdc-producer broker start && ticdc-producer broker stop
EXPOSE 8642 9092
ENTRYPOINT ["ticdc-producer"]
